import { App } from 'aws-cdk-lib/core';
import { DeployProblem } from './deploy/deploy-problem.ts';
import { bundleFolder } from './function-files.ts';
import { bundledIn } from './packaged-function.ts';
import { addService } from './service.ts';

const app = new App();
try {
  addService(app, bundledIn(bundleFolder));
  app.synth();
} catch (error) {
  if (!(error instanceof DeployProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
