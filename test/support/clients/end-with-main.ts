// Without this, a worker would run all its files after its main process was killed. It may have run other files before.
if (process.listenerCount('disconnect') === 0) process.once('disconnect', () => process.exit(1));
