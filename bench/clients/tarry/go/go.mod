module tarry.io/bench/worker

go 1.21

require tarry.io/go/tarry v0.0.0

replace tarry.io/go/tarry => ../../../../clients/go
