import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleFunctions } from '../../../infra/build/bundle.ts';

/** Bundles every function, and has all stacks of the run serve the bundles; answers how to remove them. */
export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'basalt-bundles-'));
  await bundleFunctions(folder);
  process.env.BUNDLES = folder;
  return () => rm(folder, { recursive: true, force: true });
};
