import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { root } from '../build/function-files.ts';

/**
 * The CloudFront function that rewrites requests for image variants, by the same code as the local file origin. The
 * build fails for code that CloudFront's JavaScript does not support.
 */
export const sizeRequestFunction = (): string => {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [join(root, 'infra/stacks/edge/size-request.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es5',
    supported: { arrow: true, 'const-and-let': true, 'template-literal': true },
    legalComments: 'none',
    logLevel: 'silent',
  });
  return (outputFiles[0]?.text ?? '').replace(/export \{\s*handler\s*\};\s*$/, '').trim();
};
