"""PostgreSQL: the only room that talks SQL."""
