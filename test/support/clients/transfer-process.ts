import { closeMongo } from '../../../shared/persistence/mongo.ts';
import { closeS3 } from '../../../shared/persistence/s3.ts';
import { closeSqs } from '../../../shared/persistence/sqs.ts';
import { runTransfer } from '../../../shared/transfers/run-transfer.ts';

// Runs the export or import whose id is the first argument. Prints its duration and peak heap as one JSON line.
let peak = 0;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().heapUsed);
}, 5);

const startedAt = performance.now();
await runTransfer(process.argv[2] ?? '');
const seconds = (performance.now() - startedAt) / 1000;
clearInterval(watch);
await closeMongo();
closeS3();
closeSqs();
process.stdout.write(`${JSON.stringify({ seconds, peakMiB: peak / 1024 ** 2 })}\n`);
