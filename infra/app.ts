import { App } from 'aws-cdk-lib/core';
import { bundleFolder } from './function-files.ts';
import { bundledIn } from './packaged-function.ts';
import { addService } from './service.ts';

const app = new App();
addService(app, bundledIn(bundleFolder));
app.synth();
