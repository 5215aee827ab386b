"""The base class of all requests and responses of the API."""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """An object of the API. Fields of a newer server are ignored."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True, protected_namespaces=())
