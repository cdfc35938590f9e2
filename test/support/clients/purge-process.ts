import { purgeProject } from '../../../shared/documents/store/purge.ts';
import { closeMongo } from '../../../shared/persistence/mongo.ts';
import { requireProject } from '../../../shared/projects/find-project.ts';

// Purges the project whose id is the first argument. Prints its result and peak heap as one JSON line.
const project = await requireProject(process.argv[2] ?? '');

let peak = 0;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().heapUsed);
}, 5);

const startedAt = performance.now();
let removed = 0;
for (let complete = false; !complete; ) {
  const run = await purgeProject(project);
  removed += run.removed;
  complete = run.complete;
}
const seconds = (performance.now() - startedAt) / 1000;
clearInterval(watch);
await closeMongo();
process.stdout.write(`${JSON.stringify({ removed, seconds, peakMiB: peak / 1024 ** 2 })}\n`);
