import { randomUUID } from 'node:crypto';
import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { clock } from '../clock.ts';
import { mailSettings } from '../config.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';

const keptSeconds = 2 * 24 * 3600;

/** Why a mail over the limit was not sent, as the mail log shows it. */
export const overAccountLimit =
  'The project has sent as many mails of user accounts today as its plan allows with the shared key';

const number = (value: number) => ({ N: String(value) });

/** How many mails of user accounts a project may send a day (UTC) with the shared key; `null` for any number. */
const limitOf = ({ plan }: Pick<Project, 'plan'>): number | null => {
  const { ACCOUNT_MAILS_PER_DAY: set } = mailSettings();
  return set === 0 ? null : (set ?? plans[plan].accountMailsPerDay);
};

/**
 * Counts a verification or reset mail against the project's daily limit, by one conditional write; false if the limit
 * is reached (contract 5, "Account mails"). With `toNobody` it makes the same write and counts nothing, so that timing
 * does not reveal who has an account, and requests for unknown addresses do not use up the limit.
 */
export const countAccountMail = async (
  project: Pick<Project, 'id' | 'plan'>,
  { toNobody }: { readonly toNobody: boolean },
): Promise<boolean> => {
  const limit = limitOf(project);
  if (limit === null) return true;
  const day = new Date(clock.now()).toISOString().slice(0, 10);
  try {
    await onTable((client, TableName) =>
      client.send(
        new UpdateItemCommand({
          TableName,
          Key: { pk: { S: `p#${project.id}` }, sk: { S: `quota#account-mail#${day}` } },
          UpdateExpression: 'SET expiresAt = :end, lastCall = :call ADD sent :count',
          // The SDK repeats a write whose response was lost; the condition accepts its own earlier call.
          ConditionExpression: 'attribute_not_exists(sent) OR sent < :most OR lastCall = :call',
          ExpressionAttributeValues: {
            ':end': number(Math.floor(Date.parse(day) / 1000) + keptSeconds),
            ':call': { S: randomUUID() },
            ':count': number(toNobody ? 0 : 1),
            ':most': number(limit),
          },
        }),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
};
