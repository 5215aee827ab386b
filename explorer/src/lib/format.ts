const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const MINUTE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  timeZone: "UTC",
});
const WHOLE = new Intl.NumberFormat("en");

function format(text: string | null | undefined, how: Intl.DateTimeFormat): string {
  if (!text) return "";
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : how.format(time);
}

/** Returns the day in UTC. */
export const day = (text: string | null | undefined): string => format(text, DAY);
/** Returns day and minute in UTC. */
export const minute = (text: string | null | undefined): string => format(text, MINUTE);
export const whole = (value: number): string => WHOLE.format(value);
export const percent = (value: number): string => `${Math.round(value * 100)} %`;
export const fixed = (value: number): string => value.toFixed(2);

/** Returns milliseconds as text for people. */
export function duration(ms: number): string {
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 1 : 0)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Returns the moment in a field `datetime-local`, read as UTC, in the format of the API; empty if the field is empty. */
export function moment(field: string): string {
  if (!field) return "";
  const time = new Date(`${field}Z`);
  return Number.isNaN(time.getTime()) ? "" : time.toISOString();
}
