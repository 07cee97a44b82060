"""One estimator a file, all with one signature; ``deniable.estimation.registry`` lists them."""
