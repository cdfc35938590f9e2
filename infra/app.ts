import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { bundleFolder, root } from './build/function-files.ts';
import { bundledIn } from './build/packaged-function.ts';
import { reachedNames } from './build/reached-names.ts';
import { DeployProblem } from './settings/deploy-problem.ts';
import { deploymentsFile, loadDeployments } from './settings/deployments-file.ts';
import { fileContext } from './settings/settings.ts';
import { addService } from './stacks/service.ts';

try {
  const app = new App({ context: { [fileContext]: loadDeployments(join(root, deploymentsFile)) } });
  addService(app, bundledIn(bundleFolder), await reachedNames());
  app.synth();
} catch (error) {
  if (!(error instanceof DeployProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
