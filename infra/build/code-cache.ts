import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mapConcurrent } from '../../shared/persistence/jobs.ts';

const run = promisify(execFile);

/** Has the same bundle give the same bytes, so that a deployment replaces no function that did not change. */
const repeatable = '--predictable';

/** Where Lambda, and the image of it that AWS publishes, have their own Node. */
const nodeOfLambda = '/var/lang/bin/node';

/** The Node that compiles: that of Lambda where the build runs in its image, as no other build may fit it. */
export const compilingNode = (exists: (file: string) => boolean = existsSync): string =>
  exists(nodeOfLambda) ? nodeOfLambda : process.execPath;

const writer = join(import.meta.dirname, 'write-code-cache.mjs');

/**
 * Puts beside each bundle what V8 compiles while it is loaded (`<version>-<machine>.cache`), which takes a third off
 * its start where the same build of Node runs it. Each is loaded in a process of its own, without any setting.
 */
export const writeCodeCaches = async (folders: readonly string[]): Promise<void> => {
  await mapConcurrent(folders, availableParallelism(), (folder) =>
    run(compilingNode(), [repeatable, writer, folder], { env: {} }),
  );
};
