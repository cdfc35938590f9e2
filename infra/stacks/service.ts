import { randomUUID } from 'node:crypto';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { SystemLogLevel } from 'aws-cdk-lib/aws-lambda';
import { type App, Aws, Tags, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { docsPath } from '../../shared/http/console-headers.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import type { Packages } from '../build/packaged-function.ts';
import type { Reached } from '../build/reached-names.ts';
import { chosenSettings, type DeploymentSettings, settingsOf } from '../settings/settings.ts';
import { ApiStack } from './api-stack.ts';
import { AreaStack, areaStackName } from './area-stack.ts';
import { deploymentConcurrency } from './concurrency.ts';
import { ConsoleStack } from './console-stack.ts';
import { dashboardCors, publicCors } from './cors.ts';
import { DataStack } from './data-stack.ts';
import { domainsOf } from './domains.ts';
import { networkWildcards } from './egress.ts';
import { FilesStack } from './files-stack.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import {
  apiEnvironment,
  areaEnvironment,
  commonEnvironment,
  limitsEnvironment,
  mailPaceEnvironment,
  recordEnvironment,
  sharedMailEnvironment,
} from './function-environment.ts';
import type { Sessions } from './grants.ts';
import { JobsStack } from './jobs-stack.ts';
import { NetworkStack } from './network-stack.ts';
import { QueueStack } from './queue-stack.ts';
import { RealtimeStack } from './realtime-stack.ts';
import type { Stores } from './statements.ts';
import { verifiersOf } from './verifiers.ts';
import { WatchStack } from './watch-stack.ts';

const functionDefaults = (
  app: App,
  named: (part: string) => string,
  settings: DeploymentSettings,
  packages: Packages,
  reached: Reached,
): FunctionDefaults => ({
  packages,
  reached,
  logRetention: settings.logDays,
  platformLogs: settings.platformLogs === 'all' ? SystemLogLevel.INFO : SystemLogLevel.WARN,
  concurrency: deploymentConcurrency(settings),
  egress: settings.egress === 'nat' ? new NetworkStack(app, named('Network')).egress : undefined,
});

/** The stacks that hold data. */
const addStores = (
  app: App,
  named: (part: string) => string,
  settings: DeploymentSettings,
  defaults: FunctionDefaults,
) => {
  const data = new DataStack(app, named('Data'), settings);
  const { pairs } = new QueueStack(app, named('Queues'));
  const others = {
    ...data.stores,
    mailQueue: pairs.mail.queue,
    workQueue: pairs.work.queue,
    webhookQueue: pairs.webhooks.queue,
    verifiers: verifiersOf(settings.deployment),
    languageModel: settings,
  };
  const { files, distribution, functions } = new FilesStack(app, named('Files'), {
    cloudFront: settings.cloudFront,
    domain: domainsOf(settings).files,
    stores: others,
    defaults,
    environment: commonEnvironment(settings),
  });
  const stores: Stores = { ...others, files };
  return { stores, queues: pairs, table: data.table as ITable, distribution, functions };
};

/** The origin of uploads. */
const uploadsAt = ({ bucketName }: Stores['files']): string =>
  `https://${bucketName}.s3.${Aws.REGION}.${Aws.URL_SUFFIX}`;

/** The origins of files. Without CloudFront, file addresses redirect to the bucket. */
const filePlaces = (files: Stores['files']): readonly string[] =>
  files.linkKey === undefined ? [files.url] : [files.url, uploadsAt(files)];

/**
 * The stack of live updates. It is not deployed while they are off, because a region may lack AppSync; a stack that was
 * deployed before stays unused.
 */
const addRealtime = (
  app: App,
  named: (part: string) => string,
  { realtime }: DeploymentSettings,
  jobs: JobsStack,
): RealtimeStack | undefined => {
  const authorizer = jobs.functions.get('authorize-channel');
  if (!authorizer) return undefined;
  jobs.exportValue(authorizer.lambda.functionArn);
  return realtime === 'on' ? new RealtimeStack(app, named('Realtime'), { authorizer: authorizer.lambda }) : undefined;
};

/** Area → route table. */
export type Areas = Readonly<Record<string, RouteTable>>;

/** The areas of both APIs, by the sessions that they use. */
const everyArea: Readonly<Record<Sessions, Areas>> = { users: publicRoutes, developers: dashboardRoutes };

export interface ServiceOptions {
  /** Replaces the service's routes, for tests. */
  readonly tables?: Readonly<Record<Sessions, Areas>>;
  /** Different in each deployment, so that deployment jobs run again. */
  readonly run?: string;
}

/**
 * Adds all stacks to a CDK app. The synthesis fails for every finding of the AWS Solutions rules that is not
 * acknowledged with a reason.
 */
export const addService = (
  app: App,
  packages: Packages,
  reached: Reached,
  { tables = everyArea, run = randomUUID() }: ServiceOptions = {},
): void => {
  const chosen = chosenSettings(app.node);
  const settings = settingsOf(chosen);
  const { deployment } = settings;
  const named = (part: string): string => `${deployment}-${part}`;
  const defaults = functionDefaults(app, named, settings, packages, reached);
  const { stores, queues, table, distribution, functions } = addStores(app, named, settings, defaults);
  const every = commonEnvironment(settings);
  const limits = { ...every, ...limitsEnvironment(settings) };
  const domains = domainsOf(settings);
  const open = new ApiStack(app, named('PublicApi'), {
    stores,
    defaults,
    environment: limits,
    cors: publicCors,
    requestsPerSecond: settings.publicRequestsPerSecond,
    domain: domains.public,
    behindConsole: false,
  });
  const dashboard = new ApiStack(app, named('DashboardApi'), {
    stores,
    defaults,
    environment: limits,
    cors: dashboardCors(settings.dashboardOrigins),
    requestsPerSecond: settings.dashboardRequestsPerSecond,
    domain: domains.dashboard,
    behindConsole: settings.cloudFront !== 'off',
    withPages: settings.cloudFront !== 'on',
  });

  const publicUrl = settings.publicUrl ?? open.url;
  const console = new ConsoleStack(app, named('Console'), {
    api: dashboard.api,
    viewerSecret: dashboard.viewerSecret,
    places: { api: publicUrl, files: filePlaces(stores.files), uploads: uploadsAt(stores.files) },
    domain: domains.console,
    cloudFront: settings.cloudFront,
    apiUrl: settings.dashboardApiUrl ?? dashboard.url,
    stores,
    defaults,
    environment: every,
  });

  const sharedMail = sharedMailEnvironment(settings);
  const jobs = new JobsStack(app, named('Jobs'), {
    stores,
    defaults,
    environment: { ...every, ...sharedMail, ...mailPaceEnvironment(settings) },
    record: recordEnvironment(chosen),
    run,
  });

  const realtime = addRealtime(app, named, settings, jobs);
  const environment = { ...limits, ...sharedMail, PUBLIC_URL: publicUrl, DOCS_URL: `${console.url}${docsPath}` };
  const ofOneApi = apiEnvironment(settings, console.url, dashboard);
  const ofOneArea = areaEnvironment(defaults.egress, realtime?.url);
  const writing = { ...stores, nudges: realtime?.nudges };
  const addAreas = ({ api }: ApiStack, sessions: Sessions): AreaStack[] =>
    Object.entries(tables[sessions]).map(([area, rows]) => {
      const own = { ...environment, ...ofOneApi[sessions], ...ofOneArea[area] };
      const props = { area, table: rows, api, stores: writing, sessions, defaults, environment: own };
      const stack = new AreaStack(app, named(areaStackName(area)), props);
      stack.addStackDependency(jobs);
      return stack;
    });
  const areas = [...addAreas(open, 'users'), ...addAreas(dashboard, 'developers')];

  new WatchStack(app, named('Watch'), {
    deployment,
    open,
    dashboard,
    queues,
    table,
    publicFiles: distribution,
    console: console.distribution,
    jobs: new Map([
      ...jobs.functions,
      ...functions,
      ...(console.pages ? [['serve-page', console.pages] as const] : []),
    ]),
    webhooks: areas.flatMap(({ withOwnUrl }) => withOwnUrl),
    concurrency: defaults.concurrency,
    alarmEmail: settings.alarmEmail,
    monthlyBudget: settings.monthlyBudget,
  });

  for (const id of defaults.egress ? networkWildcards : []) {
    Validations.of(app).acknowledge({
      id,
      reason: 'Lambda takes no narrower names, and the function itself is denied it.',
    });
  }
  Tags.of(app).add('service', deployment);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
};
