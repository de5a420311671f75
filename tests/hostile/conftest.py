"""The loopback Hub, the small checkpoint and the settings that the tests of models use."""

from tests.models.conftest import bert_copy, bert_folder, hub, set_settings  # noqa: F401
