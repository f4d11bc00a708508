"""Recall: four arms search a bank in two trips to the database, one blend ranks, one budget packs."""
