from tests.dialogues.conftest import town  # noqa: F401 - a fixture
