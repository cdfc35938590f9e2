import { type App, Tags, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { dashboardRoutes, publicRoutes } from '../functions/routes.ts';
import type { RouteTable } from '../shared/http/route.ts';
import { ApiStack } from './api-stack.ts';
import { AreaStack, areaStackName } from './area-stack.ts';
import { dashboardCors, publicCors } from './cors.ts';
import { DataStack } from './data-stack.ts';
import type { Sessions, Stores } from './grants.ts';
import { JobsStack } from './jobs-stack.ts';
import type { Packages } from './packaged-function.ts';
import { QueueStack } from './queue-stack.ts';
import { deploymentSettings } from './settings.ts';

/**
 * Adds every stack of the service to a CDK app: the stores, the queues, one gateway a base address, one stack of routes an area, the jobs.
 * Any finding of the AWS Solutions rules that is not acknowledged with a reason fails the synthesis.
 */
export const addService = (app: App, packages: Packages): void => {
  const settings = deploymentSettings(app.node);
  const named = (part: string): string => `${settings.deployment}-${part}`;
  const { table, mongodbSecret, encryptionSecret, mailProviderSecret } = new DataStack(app, named('Data'));
  const { mailQueue } = new QueueStack(app, named('Queues'));
  const stores: Stores = { table, mongodbSecret, encryptionSecret, mailProviderSecret, mailQueue };

  const limits = {
    RATE_LIMIT: settings.rateLimit,
    AUTH_RATE_LIMIT: settings.authRateLimit,
    CREDENTIAL_RATE_LIMIT: settings.credentialRateLimit,
  };
  const common = { stores, packages, environment: limits };
  const open = new ApiStack(app, named('PublicApi'), { ...common, cors: publicCors });
  const dashboard = new ApiStack(app, named('DashboardApi'), {
    ...common,
    cors: dashboardCors(settings.dashboardOrigins),
  });

  const sender: Record<string, string> = settings.emailFrom ? { EMAIL_FROM: settings.emailFrom } : {};
  const jobs = new JobsStack(app, named('Jobs'), { stores, packages, environment: sender });

  const environment = { ...limits, PUBLIC_URL: settings.publicUrl ?? open.api.apiEndpoint };
  const addAreas = (tables: Readonly<Record<string, RouteTable>>, { api }: ApiStack, sessions: Sessions): void => {
    for (const [area, table] of Object.entries(tables)) {
      const props = { area, table, api, stores, sessions, packages, environment };
      new AreaStack(app, named(areaStackName(area)), props).addStackDependency(jobs);
    }
  };
  addAreas(publicRoutes, open, 'users');
  addAreas(dashboardRoutes, dashboard, 'developers');

  Tags.of(app).add('service', settings.deployment);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
