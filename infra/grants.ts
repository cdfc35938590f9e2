import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { developerScope, projectScope } from '../shared/auth/session-keys.ts';
import type { Use } from '../shared/http/route.ts';

/** The stores that functions are let into, by their addresses. */
export interface Stores {
  readonly table: { readonly tableArn: string; readonly tableName: string };
  readonly mongodbSecret: { readonly secretArn: string };
  readonly encryptionSecret: { readonly secretArn: string };
  readonly mailProviderSecret: { readonly secretArn: string };
  readonly mailQueue: { readonly queueArn: string; readonly queueUrl: string };
}

/** Whose sessions a function deals with: those of end users, or those of developers (the dashboard). */
export type Sessions = 'users' | 'developers';

const everyProject = projectScope('*');

const sessionKeys: Readonly<Record<Sessions, string>> = { users: everyProject, developers: developerScope };

/** Actions on the items whose partition key matches; others can be neither read nor written. */
const onItems = ({ table }: Stores, partitionKey: string, actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({
    actions: actions.map((action) => `dynamodb:${action}`),
    resources: [table.tableArn],
    conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partitionKey] } },
  });

const onSessions = (stores: Stores, partitionKey: string): PolicyStatement =>
  onItems(stores, partitionKey, ['ConditionCheckItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'UpdateItem']);

const readSecret = ({ secretArn }: { readonly secretArn: string }): PolicyStatement =>
  new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] });

const onMailQueue = ({ mailQueue }: Stores, actions: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: actions.map((action) => `sqs:${action}`), resources: [mailQueue.queueArn] });

/** What every function behind a gateway may do: count the request. */
export const rateCounting = (stores: Stores): PolicyStatement => onItems(stores, 'rate#*', ['UpdateItem']);

const statementOf: Readonly<Record<Use, (stores: Stores, sessions: Sessions) => PolicyStatement>> = {
  mongodb: ({ mongodbSecret }) => readSecret(mongodbSecret),
  encryption: ({ encryptionSecret }) => readSecret(encryptionSecret),
  sessions: (stores, sessions) => onSessions(stores, sessionKeys[sessions]),
  'user-sessions': (stores) => onSessions(stores, everyProject),
  'email-tokens': (stores) => onItems(stores, everyProject, ['PutItem', 'UpdateItem']),
  lockouts: (stores) => onItems(stores, 'lock#*', ['UpdateItem']),
  purge: (stores) => onItems(stores, everyProject, ['BatchWriteItem', 'Query']),
  'mail-queue': (stores) => onMailQueue(stores, ['SendMessage']),
  'mail-delivery': (stores) =>
    onMailQueue(stores, ['ChangeMessageVisibility', 'DeleteMessage', 'GetQueueAttributes', 'ReceiveMessage']),
  'mail-provider': ({ mailProviderSecret }) => readSecret(mailProviderSecret),
};

/** One statement a use, on exactly the resource it needs. */
export const statementsFor = (uses: readonly Use[], stores: Stores, sessions: Sessions = 'users'): PolicyStatement[] =>
  uses.map((use) => statementOf[use](stores, sessions));

/** The uses for which a function has to know the queue. */
const mailQueueUses: readonly Use[] = ['mail-queue', 'mail-delivery'];

/** Environment that tells a function where the things are that it may use. */
export const variablesFor = (uses: readonly Use[], stores: Stores): Record<string, string> => ({
  TABLE_NAME: stores.table.tableName,
  ...(uses.includes('mongodb') ? { MONGODB_SECRET_ARN: stores.mongodbSecret.secretArn } : {}),
  ...(uses.includes('encryption') ? { ENCRYPTION_SECRET_ARN: stores.encryptionSecret.secretArn } : {}),
  ...(uses.includes('mail-provider') ? { MAIL_PROVIDER_SECRET_ARN: stores.mailProviderSecret.secretArn } : {}),
  ...(mailQueueUses.some((use) => uses.includes(use)) ? { MAIL_QUEUE_URL: stores.mailQueue.queueUrl } : {}),
});
