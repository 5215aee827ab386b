import type { components } from "./schema";

type Schemas = components["schemas"];

export type AnswerStyle = Schemas["AnswerStyle"];
export type Access = Schemas["KeyAccess"];
export type ApiKey = Schemas["ApiKey"];
export type ApiKeyToken = Schemas["ApiKeyToken"];
export type Curated = Schemas["Curated"];
export type Curation = Schemas["Curation"];
export type DeadLetter = Schemas["DeadLetter"];
export type Entity = Schemas["Entity"];
export type Erased = Schemas["Erased"];
export type Erasure = Schemas["Erasure"];
export type ErasureCheck = Schemas["ErasureCheck"];
export type Fact = Schemas["Fact"];
export type MemoryPage = Schemas["Page"];
export type Merge = Schemas["Merge"];
export type NewAct = Schemas["NewAct"];
export type NewApiKey = Schemas["NewApiKey"];
export type PackItem = Schemas["PackItem"];
export type PageHead = Schemas["PageHead"];
export type Problem = Schemas["Problem"];
export type PathStep = Schemas["PathStep"];
export type Progress = Schemas["Progress"];
export type QueryRequest = Schemas["QueryRequest"];
export type QueryResponse = Schemas["QueryResponse"];
export type RecallResponse = Schemas["RecallResponse"];
export type Rebuild = Schemas["Rebuild"];
export type Record = Schemas["Record"];
export type ReadingCost = Schemas["ReadingCost"];
export type ReadingPage = Schemas["ReadingPage"];
export type Right = Schemas["Right"];
export type Space = Schemas["Space"];
export type Strategy = Schemas["Strategy"];
export type Topic = Schemas["Topic"];
export type TopicView = Schemas["TopicView"];
export type UnitExplanation = Schemas["UnitExplanation"];
export type Usage = Schemas["Usage"];
export type Unit = Schemas["UnitView"];

/** A reading. A server with several kinds of readings names the kind. */
export type Reading = Schemas["Reading"] & { kind?: string };

/** A part of a list. */
export interface Listed<Item> {
  items: Item[];
  next?: string | null;
}
