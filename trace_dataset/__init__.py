"""TRACE for Hugging Face."""
