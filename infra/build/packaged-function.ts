import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { nativeFile } from './native-bcrypt.ts';

export interface PackagedFunction {
  readonly code: Code;
  /** True if it has binaries for x86_64; all others run on arm64. */
  readonly native: boolean;
}

/** Returns the code of a function named `<area>-<name>`. */
export type Packages = (name: string) => PackagedFunction;

/**
 * Packages from a folder of `npm run build`. Excludes source maps, which cost more at a cold start than they help, and
 * code caches for another architecture.
 */
export const bundledIn =
  (folder: string): Packages =>
  (name) => {
    const path = join(folder, name);
    if (!existsSync(join(path, 'index.mjs'))) throw new DeployProblem(`${name} is not bundled. Run: npm run build`);
    const native = [nativeFile, 'node_modules'].some((name) => existsSync(join(path, name)));
    const exclude = ['*.map', native ? '*-arm64.cache' : '*-x64.cache'];
    return { code: Code.fromAsset(path, { exclude }), native };
  };
