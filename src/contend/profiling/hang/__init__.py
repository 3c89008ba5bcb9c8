"""Programs that were ended: where ranks were, and whether they could have gone on."""
