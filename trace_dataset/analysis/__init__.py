"""From stored results to tables and figures; nothing is recomputed by a model."""
