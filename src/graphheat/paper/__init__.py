"""The paper's experiment: its tables, figures and claims, each with a number."""
