import { MongoClient } from 'mongodb';
import type { OpenApi } from '../../../../shared/http/openapi/describe-api.ts';
import { type Answer, call } from '../../clients/client.ts';
import type { ExternalS3 } from '../../clients/external-s3.ts';
import { codeIn, mailAbout } from '../../clients/inbox.ts';
import type { LanguageModel } from '../../clients/language-model.ts';
import type { TestStack } from '../../clients/start-stack.ts';
import { ApiWalk, type Data } from './walk.ts';

/** Both APIs of a stack of its own, what stands outside of it, and what a walk through them finds out on its way. */
export interface WalkContext {
  readonly stack: TestStack;
  readonly dashboard: ApiWalk;
  readonly open: ApiWalk;
  readonly externalS3: ExternalS3;
  /** Of a MongoDB that a developer may connect. */
  readonly databaseUri: string;
  readonly model: LanguageModel;
}

const describedBy = async (base: string): Promise<ApiWalk> => {
  const { body } = await call<OpenApi>(base, 'GET', '/api/openapi.json');
  return new ApiWalk(base, body);
};

/** Reads the documents of both APIs where they are served. */
export const walksOf = async ({ baseUrl, dashboardUrl }: TestStack) => ({
  open: await describedBy(baseUrl),
  dashboard: await describedBy(dashboardUrl),
});

/** A call that no example stands for: what a walk needs to be there first. */
export const prepare = async (
  { dashboard, stack }: Pick<WalkContext, 'dashboard' | 'stack'>,
  method: string,
  path: string,
  body?: unknown,
  token = dashboard.credentials.dashboardToken ?? '',
): Promise<Answer<Data>> => {
  const answer = await call<Data>(stack.dashboardUrl, method, path, { token, ...(body === undefined ? {} : { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path} answered ${JSON.stringify(answer.body)}`);
  return answer;
};

/** The code of the first mail to an address whose subject is like this. */
export const mailedCode = async ({ stack }: WalkContext, address: string, subject: RegExp): Promise<string> =>
  codeIn(await mailAbout(address, subject, stack.env.MAIL_PROVIDER_URL));

/** Puts a developer on a plan, as an operator does. */
export const setPlan = async ({ stack }: WalkContext, email: string, plan: string): Promise<void> => {
  const client = new MongoClient(stack.mongoUri);
  try {
    await client
      .db(stack.env.CONTROL_DATABASE ?? 'control')
      .collection('developers')
      .updateOne({ email }, { $set: { plan } });
  } finally {
    await client.close();
  }
};
