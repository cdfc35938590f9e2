import path from 'node:path';
import { startDynamo } from './dynamo.ts';
import { type Files, type FilesHostOptions, filesEnvironment, findFiles } from './files/start-files.ts';
import type { LocalServiceOptions } from './helper-process.ts';
import { localAccount, localLinkKeys } from './keys.ts';
import { startMongo } from './mongo/engine.ts';
import { type MailWebhook, type Providers, providerEnvironment, startProviders } from './providers.ts';
import { type Queues, startQueues } from './queues.ts';
import type { LocalSettings } from './settings.ts';

export interface BackingServices {
  readonly mongoUri: string;
  readonly dynamoUrl: string;
  readonly queues: Queues;
  readonly providers: Providers;
  readonly files: Files;
}

const tableOf = ({ functions }: LocalSettings): string => functions.TABLE_NAME ?? 'basalt';

/** Starts all services at the same time, with their data in `directory`. If one fails, `stops` has those that started. */
export const startBackingServices = async (
  directory: string,
  settings: LocalSettings,
  webhook: MailWebhook,
  files: Pick<FilesHostOptions, 'keys' | 'variants'>,
  options: LocalServiceOptions,
  stops: AsyncDisposableStack,
): Promise<BackingServices> => {
  const started = async <S extends { stop(): Promise<void> }>(starting: Promise<S>): Promise<S> => {
    const service = await starting;
    // Another part has ended meanwhile.
    if (stops.disposed) await service.stop();
    else stops.defer(service.stop);
    return service;
  };
  const linkKeys = await localLinkKeys();
  const starting = [
    started(startMongo(path.join(directory, 'mongo'), settings.mongoUri, options)),
    started(
      startDynamo({
        ...options,
        directory,
        endpoint: settings.dynamoEndpoint,
        table: tableOf(settings),
        ...localAccount,
      }),
    ),
    started(startQueues({ ...options, ...localAccount })),
    started(startProviders(settings.port, webhook, options)),
    started(findFiles(directory, settings, { ...options, ...files, linkKeys })),
  ] as const;
  await Promise.allSettled(starting);
  const [mongo, dynamo, queues, providers, store] = await Promise.all(starting);
  return { mongoUri: mongo.address, dynamoUrl: dynamo.address, queues, providers, files: store };
};

/** The environment variables that lead functions to the services. */
export const backingServiceEnvironment = (
  { mongoUri, dynamoUrl, queues, providers, files }: BackingServices,
  settings: LocalSettings,
): Record<string, string> => ({
  // The default for AWS services without an address of their own, so that no request leaves this machine.
  AWS_ENDPOINT_URL: queues.endpoint,
  AWS_REGION: localAccount.region,
  MONGODB_URI: mongoUri,
  AWS_ENDPOINT_URL_DYNAMODB: dynamoUrl,
  TABLE_NAME: tableOf(settings),
  MAIL_QUEUE_URL: queues.urls.mail,
  WORK_QUEUE_URL: queues.urls.work,
  WEBHOOK_QUEUE_URL: queues.urls.webhooks,
  ...providerEnvironment(providers),
  ...filesEnvironment(files),
});
