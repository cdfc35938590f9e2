// A worker whose main process was killed would run its files to their end, for nobody; it may have run others before.
if (process.listenerCount('disconnect') === 0) process.once('disconnect', () => process.exit(1));
