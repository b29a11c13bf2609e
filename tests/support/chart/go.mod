module tarry/tests/chart

go 1.19
