import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import path from 'node:path';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { describeError, log } from '../../shared/core/log.ts';
import { closeExternalStorages } from '../../shared/files/external-bucket.ts';
import type { ConsolePlaces } from '../../shared/http/console-headers.ts';
import { docsPath } from '../../shared/http/docs-site.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { closeDynamo } from '../../shared/persistence/dynamo.ts';
import { closeLambda } from '../../shared/persistence/lambda.ts';
import { closeMongo } from '../../shared/persistence/mongo.ts';
import { closeObjects } from '../../shared/persistence/objects.ts';
import { closeS3 } from '../../shared/persistence/s3.ts';
import { closeSqs } from '../../shared/persistence/sqs.ts';
import { functionName } from '../build/function-files.ts';
import { type CorsPolicy, dashboardCorsPolicy, publicCorsPolicy } from '../stacks/cors-policy.ts';
import { fileStoreKeys } from './aws-account.ts';
import { backingServiceEnvironment, startBackingServices } from './backing-services.ts';
import { bundled } from './bundled.ts';
import { consoleSite, type ServeSite } from './console-site.ts';
import { corsOf } from './cors.ts';
import type { Databases } from './databases.ts';
import { encryptionKey } from './encryption-key.ts';
import type { GatewayEvent } from './event.ts';
import type { S3Keys } from './files/signature.ts';
import { closeGateway, createGateway, type Invoke } from './gateway.ts';
import { inProcess } from './in-process.ts';
import { startInvocations } from './invocations.ts';
import { claim } from './lock.ts';
import { refuseOutsideHosts } from './loopback-only.ts';
import { permitToo } from './permit-addresses.ts';
import { listen, onFreePorts, originAt, portAfter, preferPort } from './ports.ts';
import { inboxOf } from './providers.ts';
import { startQueueFunctions } from './queue-functions.ts';
import { createEventApi } from './realtime/event-api.ts';
import { runDeploymentJobs, startSchedules } from './schedules.ts';
import type { LocalSettings } from './settings.ts';
import { type Credentials, SignInLinks } from './sign-in-link.ts';
import { prepareDirectory } from './state-directory.ts';
import { Stops } from './stops.ts';
import { findRouteIn } from './targets.ts';
import { localWebhookSecret } from './webhook-secret.ts';

interface StackOptions extends LocalSettings {
  /**
   * Makes a folder of bundles to serve, each function in processes of its own, instead of the sources in this process;
   * asked once nobody else runs with the data.
   */
  readonly bundles?: () => Promise<string>;
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
  /** The address of the console that signs a developer in once, within ten minutes. */
  readonly offerSignIn: (credentials: Credentials) => string;
  /** Lets running requests finish, for a few seconds at most, and ends every part; data stays. */
  stop(): Promise<void>;
}

const finishMs = 3000;

const webhookFunction = functionName('mail/webhook', publicRoutes['mail/webhook']['receive-webhook'].id);

/** The function that makes sizes of pictures. */
const sizesFunction = functionName('jobs', 'make-size');

const logFailure = (name: string, error: unknown): void =>
  log.error({ message: 'The function failed', function: name, ...describeError(error) });

const gatewayFor = (
  tables: Readonly<Record<string, RouteTable>>,
  policy: CorsPolicy | undefined,
  invoke: Invoke,
  site?: ServeSite,
) =>
  createGateway({
    findRoute: findRouteIn(tables),
    cors: policy && corsOf(policy),
    ...(site ? { site } : {}),
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

/** Only who names itself as `caller`, as only CloudFront may call such a function of a deployment. */
const known =
  (invoke: Invoke, caller: string): Invoke =>
  async (name, event) => {
    const { headers } = event as GatewayEvent;
    return headers.authorization === caller ? invoke(name, event) : { statusCode: 403 };
  };

const closeClients = async (): Promise<void> => {
  closeDynamo();
  closeLambda();
  closeSqs();
  closeS3();
  closeObjects();
  closeExternalStorages();
  await closeMongo();
};

/** Functions run in this process, or as bundles in their own; `env` is all they are told. */
const functionsOf = async (
  bundles: StackOptions['bundles'],
  env: Readonly<Record<string, string>>,
  stops: Stops,
): Promise<Invoke> => {
  if (bundles === undefined) return inProcess();
  const { invoke, stop } = bundled(await bundles(), env);
  stops.add(stop);
  return invoke;
};

/** Listens from the beginning, so that nothing else that starts here takes the port meanwhile; returns its address. */
const serve = async (server: Server, port: number, setting: string, stops: Stops): Promise<string> => {
  stops.add(() => closeGateway(server, 0));
  return originAt(await listen(server, port, setting));
};

/** Preferred place after the port of the public API. */
const eventApiPlace = 8;

/** Starts the Event API of live updates; returns what tells functions, and through them clients, where it is. */
const serveEvents = (port: number, invoke: Invoke, keys: S3Keys, stops: Stops): Promise<Record<string, string>> =>
  onFreePorts(async () => {
    const { server, close } = createEventApi(invoke, keys);
    const taken = await listen(server, await preferPort(portAfter(port, eventApiPlace)));
    stops.add(close);
    return {
      REALTIME_URL: `ws://127.0.0.1:${taken}/event/realtime`,
      REALTIME_PUBLISH_URL: `${originAt(taken)}/event`,
    };
  });

const begin = async (options: StackOptions, stops: Stops): Promise<Stack> => {
  const { port, report, onFailure } = options;
  refuseOutsideHosts(options.functions.AI_BASE_URL);
  const directory = path.resolve(options.directory);
  await prepareDirectory(directory);

  stops.add(await claim(path.join(directory, 'lock'), port));
  const opened = Promise.withResolvers<Invoke>();
  const addresses = Promise.withResolvers<ConsolePlaces>();
  // Requests that come before the functions are there wait for them.
  const onRequest: Invoke = async (name, event) => (await opened.promise)(name, event);
  const links = new SignInLinks();
  const filesHost = randomUUID();
  const gateways = [
    gatewayFor(publicRoutes, publicCorsPolicy, onRequest),
    gatewayFor(
      dashboardRoutes,
      dashboardCorsPolicy(options.dashboardOrigins),
      links.around(onRequest),
      consoleSite(addresses.promise, Boolean(options.functions.AI_BASE_URL)),
    ),
    functionUrlFor(webhookFunction, onRequest),
    functionUrlFor(sizesFunction, known(onRequest, filesHost)),
  ] as const;
  const baseUrl = await serve(gateways[0], port, 'PORT', stops);
  const dashboardUrl = await serve(gateways[1], portAfter(port, 1), 'The dashboard port', stops);
  const webhookUrl = `${await serve(gateways[2], portAfter(port, 2), 'The webhook port', stops)}/`;

  const sizesUrl = await serve(gateways[3], 0, 'The port of sizes', stops);

  const ENCRYPTION_KEY = await encryptionKey(directory);
  // The key of links to files is made of it before the functions are told everything.
  Object.assign(process.env, { ENCRYPTION_KEY });
  const { MAIL_WEBHOOK_SECRET = localWebhookSecret(ENCRYPTION_KEY) } = options.functions;
  const onExit = (detail: string): void => {
    stops.run().then(
      () => onFailure(detail),
      () => onFailure(detail),
    );
  };
  const backing = await startBackingServices(
    directory,
    options,
    { url: webhookUrl, secrets: MAIL_WEBHOOK_SECRET },
    { keys: fileStoreKeys(ENCRYPTION_KEY), sizes: { url: sizesUrl, caller: filesHost } },
    { report, onExit },
    stops,
  );
  permitToo(new URL(backing.providers.socialUrls.openid).host);
  report('MongoDB, DynamoDB, the queues, the file store and the providers are up');
  // Functions are told where to invoke others before there are any.
  const invocations = await startInvocations((name, event) => invoke(name, event));
  stops.add(invocations.stop);
  const env = {
    DASHBOARD_URL: dashboardUrl,
    ...options.functions,
    MAIL_WEBHOOK_SECRET,
    ...backingServiceEnvironment(backing, options),
    ...invocations.environment,
    ...(options.liveUpdates && (await serveEvents(port, onRequest, backing.files.keys, stops))),
    ENCRYPTION_KEY,
    PUBLIC_URL: baseUrl,
    DASHBOARD_API_URL: dashboardUrl,
    DOCS_URL: `${dashboardUrl}${docsPath}`,
    DASHBOARD_ORIGINS: [dashboardUrl, ...options.dashboardOrigins].join(','),
  };
  Object.assign(process.env, env);
  stops.add(closeClients);
  const invoke = await functionsOf(options.bundles, env, stops);
  await runDeploymentJobs(invoke);
  report('The control database is ready');
  stops.add(startSchedules(invoke, logFailure));
  stops.add(await startQueueFunctions(backing.queues, invoke, logFailure));

  // The first to end: what is running may finish while everything is there.
  for (const gateway of gateways) stops.add(() => closeGateway(gateway, finishMs));
  opened.resolve(invoke);
  const inboxUrl = inboxOf(backing.providers);
  const { filesUrl } = backing.files;
  const uploads = new URL(backing.files.s3Url).origin;
  addresses.resolve({ api: baseUrl, files: [new URL(filesUrl).origin], uploads });
  return {
    ...backing.databases,
    baseUrl,
    dashboardUrl,
    inboxUrl,
    webhookUrl,
    webhookSecret: MAIL_WEBHOOK_SECRET.split(/[\s,]+/).find(Boolean) ?? '',
    filesUrl,
    env,
    invoke,
    offerSignIn: (credentials) => links.offer(dashboardUrl, credentials),
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
