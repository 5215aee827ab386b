"""The base of everything that the service says or is told."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An object of the API. Fields that a newer server adds are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, protected_namespaces=())
