import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { DeployProblem } from './deploy-problem.ts';
import { deploymentsFile, readDeployments } from './deployments-file.ts';
import { bundleFolder, root } from './function-files.ts';
import { bundledIn } from './packaged-function.ts';
import { addService } from './service.ts';
import { fileContext } from './settings.ts';

try {
  const app = new App({ context: { [fileContext]: readDeployments(join(root, deploymentsFile)) } });
  addService(app, bundledIn(bundleFolder));
  app.synth();
} catch (error) {
  if (!(error instanceof DeployProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
