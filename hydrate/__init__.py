"""Hydration."""
