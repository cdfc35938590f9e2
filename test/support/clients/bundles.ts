import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { bundleFunctions } from '../../../infra/build/bundle.ts';

/** Bundles every function and makes all local services of the run use the bundles. Returns the clean-up function. */
export const setup = async (): Promise<() => Promise<void>> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'basalt-bundles-'));
  await bundleFunctions(folder);
  process.env.BUNDLES = folder;
  return () => rm(folder, { recursive: true, force: true });
};
