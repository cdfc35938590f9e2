import path from 'node:path';
import { localAccount } from './aws-account.ts';
import { startDynamo } from './dynamo.ts';
import type { LocalServiceOptions } from './local-service.ts';
import { startMongo } from './mongo/engine.ts';
import type { LocalSettings } from './settings.ts';
import type { Stops } from './stops.ts';

export interface Databases {
  readonly mongoUri: string;
  readonly dynamoUrl: string;
}

const tableOf = ({ functions }: LocalSettings): string => functions.TABLE_NAME ?? 'basalt';

/** Starts both databases side by side, with their data in `directory`. */
export const startDatabases = async (
  directory: string,
  settings: LocalSettings,
  options: LocalServiceOptions,
  stops: Stops,
): Promise<Databases> => {
  const parts = await Promise.allSettled([
    startMongo(path.join(directory, 'mongo'), settings.mongoUri, options),
    startDynamo({
      ...options,
      file: path.join(directory, 'dynamo.db'),
      endpoint: settings.dynamoEndpoint,
      table: tableOf(settings),
      ...localAccount,
    }),
  ]);
  for (const part of parts) if (part.status === 'fulfilled') stops.add(part.value.stop);
  const [mongo, dynamo] = parts;
  if (mongo.status === 'rejected') throw mongo.reason;
  if (dynamo.status === 'rejected') throw dynamo.reason;
  return { mongoUri: mongo.value.address, dynamoUrl: dynamo.value.address };
};

/** What tells functions where the databases are. */
export const databaseEnvironment = (databases: Databases, settings: LocalSettings): Record<string, string> => ({
  MONGODB_URI: databases.mongoUri,
  AWS_ENDPOINT_URL_DYNAMODB: databases.dynamoUrl,
  AWS_REGION: localAccount.region,
  TABLE_NAME: tableOf(settings),
});
