import type { Server } from 'node:http';
import path from 'node:path';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { closeDynamo } from '../../shared/clients/dynamo.ts';
import { closeLambda } from '../../shared/clients/lambda.ts';
import { closeMongo } from '../../shared/clients/mongo.ts';
import { closeS3 } from '../../shared/clients/s3.ts';
import { closeSqs } from '../../shared/clients/sqs.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { describeError, log } from '../../shared/log.ts';
import { type CorsPolicy, dashboardCorsPolicy, publicCorsPolicy } from '../cors-policy.ts';
import { functionName } from '../function-files.ts';
import { bundled } from './bundled.ts';
import { corsOf } from './cors.ts';
import type { Databases } from './databases.ts';
import { encryptionKey } from './encryption-key.ts';
import { closeGateway, createGateway, type Invoke } from './gateway.ts';
import { inProcess } from './in-process.ts';
import { startInvocations } from './invocations.ts';
import { claim } from './lock.ts';
import { refuseOutsideHosts } from './loopback-only.ts';
import { outsideEnvironment, startOutside } from './outside.ts';
import { listen, probePort } from './ports.ts';
import { inboxOf } from './providers.ts';
import { startQueueFunctions } from './queue-functions.ts';
import { runDeploymentJobs, startSchedules } from './schedules.ts';
import type { LocalSettings } from './settings.ts';
import { prepareDirectory } from './state-directory.ts';
import { Stops } from './stops.ts';
import { findRouteIn } from './targets.ts';
import { localWebhookSecret } from './webhook-secret.ts';

export interface StackOptions extends LocalSettings {
  /** A folder of bundles to serve, each function in processes of its own, instead of the sources in this process. */
  readonly bundles?: string;
  /** Told about each step, for the person who waits. */
  readonly report: (step: string) => void;
  /** A part ended although nobody stopped it; the rest has been stopped by then. */
  readonly onFailure: (detail: string) => void;
}

export interface Stack extends Databases {
  /** The public API. */
  readonly baseUrl: string;
  readonly dashboardUrl: string;
  /** The page on which the mails that went out can be read. */
  readonly inboxUrl: string;
  /** Where the mail provider sends its events. */
  readonly webhookUrl: string;
  /** What it signs them with, `whsec_…`; empty where nothing is set. */
  readonly webhookSecret: string;
  /** Where the public files are. */
  readonly filesUrl: string;
  /** The environment that functions run with. */
  readonly env: Readonly<Record<string, string>>;
  readonly invoke: Invoke;
  /** Lets running requests finish, for a few seconds at most, and ends every part; data stays. */
  stop(): Promise<void>;
}

const finishMs = 3000;

const webhookFunction = functionName('mail/webhook', publicRoutes['mail/webhook']['receive-webhook'].id);

const logFailure = (name: string, error: unknown): void =>
  log.error({ message: 'The function failed', function: name, ...describeError(error) });

const gatewayFor = (tables: Readonly<Record<string, RouteTable>>, policy: CorsPolicy | undefined, invoke: Invoke) =>
  createGateway({
    findRoute: findRouteIn(tables),
    cors: policy && corsOf(policy),
    invoke,
    onFailure: logFailure,
  });

/** A function's own URL: whatever is sent there, the function is asked. */
const functionUrlFor = (name: string, invoke: Invoke) =>
  createGateway({
    findRoute: () => ({ name, routeKey: '$default', pathParameters: undefined }),
    cors: undefined,
    invoke,
    onFailure: logFailure,
  });

const closeClients = async (): Promise<void> => {
  closeDynamo();
  closeLambda();
  closeSqs();
  closeS3();
  await closeMongo();
};

/** Functions run in this process, or as bundles in their own; `env` is all they are told. */
const functionsOf = (bundles: string | undefined, env: Readonly<Record<string, string>>, stops: Stops): Invoke => {
  if (bundles !== undefined) {
    const { invoke, stop } = bundled(bundles, env);
    stops.add(stop);
    return invoke;
  }
  return inProcess();
};

const serve = async (server: Server, port: number, setting: string, stops: Stops): Promise<string> => {
  const address = `http://127.0.0.1:${await listen(server, port, setting)}`;
  stops.add(() => closeGateway(server, finishMs));
  return address;
};

const begin = async (options: StackOptions, stops: Stops): Promise<Stack> => {
  const { port, report, onFailure } = options;
  refuseOutsideHosts(options.functions.AI_BASE_URL);
  const directory = path.resolve(options.directory);
  await prepareDirectory(directory);

  const webhookPort = port === 0 ? 0 : port + 2;
  stops.add(await claim(path.join(directory, 'lock'), port));
  const publicPort = await probePort(port);
  const dashboardPort = await probePort(port === 0 ? 0 : port + 1, 'The dashboard port');
  const webhookUrl = `http://127.0.0.1:${await probePort(webhookPort, 'The webhook port')}/`;

  const ENCRYPTION_KEY = await encryptionKey(directory);
  const { MAIL_WEBHOOK_SECRET = localWebhookSecret(ENCRYPTION_KEY) } = options.functions;
  const onExit = (detail: string): void => {
    stops.run().then(
      () => onFailure(detail),
      () => onFailure(detail),
    );
  };
  const outside = await startOutside(
    directory,
    options,
    { url: webhookUrl, secrets: MAIL_WEBHOOK_SECRET },
    { report, onExit },
    stops,
  );
  report('MongoDB, DynamoDB, the queues, the file store and the providers are up');
  // Functions are told where to invoke others before there are any.
  const invocations = await startInvocations((name, event) => invoke(name, event));
  stops.add(invocations.stop);
  const env = {
    ...options.functions,
    MAIL_WEBHOOK_SECRET,
    ...outsideEnvironment(outside, options),
    ...invocations.environment,
    ENCRYPTION_KEY,
    PUBLIC_URL: `http://127.0.0.1:${publicPort}`,
    DASHBOARD_API_URL: `http://127.0.0.1:${dashboardPort}`,
  };
  Object.assign(process.env, env);
  stops.add(closeClients);
  const invoke = functionsOf(options.bundles, env, stops);
  await runDeploymentJobs(invoke);
  report('The control database is ready');
  stops.add(startSchedules(invoke, logFailure));
  stops.add(await startQueueFunctions(outside.queues, invoke, logFailure));

  const dashboardPolicy = dashboardCorsPolicy(options.dashboardOrigins);
  const [baseUrl, dashboardUrl] = await Promise.all([
    serve(gatewayFor(publicRoutes, publicCorsPolicy, invoke), publicPort, 'PORT', stops),
    serve(gatewayFor(dashboardRoutes, dashboardPolicy, invoke), dashboardPort, 'The dashboard port', stops),
    serve(functionUrlFor(webhookFunction, invoke), Number(new URL(webhookUrl).port), 'The webhook port', stops),
  ]);
  const inboxUrl = inboxOf(outside.providers);
  const { filesUrl } = outside.files;
  return {
    ...outside.databases,
    baseUrl,
    dashboardUrl,
    inboxUrl,
    webhookUrl,
    webhookSecret: MAIL_WEBHOOK_SECRET.split(/[\s,]+/).find(Boolean) ?? '',
    filesUrl,
    env,
    invoke,
    stop: () => stops.run(),
  };
};

/**
 * Starts the whole service on this machine: databases, queues, providers, functions, schedules and both gateways, on
 * loopback only.
 * `port` 0 takes free ports. One stack a process, because functions read their settings once. What the person at the
 * keyboard can mend is thrown as `StartProblem`; whatever had been started is stopped by then.
 */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const stops = new Stops();
  try {
    return await begin(options, stops);
  } catch (error) {
    await stops.run();
    throw error;
  }
};
