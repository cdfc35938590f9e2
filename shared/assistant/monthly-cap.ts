import { randomUUID } from 'node:crypto';
import { type AttributeValue, ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { plans } from '../projects/plans.ts';
import type { PlanName, Project } from '../projects/project.ts';

/** One proposal of a project, counted in its month. */
export interface CountedProposal {
  readonly projectId: string;
  /** `yyyy-mm` in UTC. */
  readonly month: string;
}

const dayMs = 24 * 3600_000;

type Values = Readonly<Record<string, AttributeValue>>;

const keyOf = ({ projectId, month }: CountedProposal) => ({
  pk: { S: `p#${projectId}` },
  sk: { S: `assistant#${month}` },
});

/** When the month that is counted ends, in ms since 1970. */
const endOf = ({ month }: Pick<CountedProposal, 'month'>): number => {
  const date = new Date(month);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};

const overLimit = (plan: PlanName, counted: CountedProposal, now: number): AppError =>
  new AppError(
    'ASSISTANT_QUOTA_EXCEEDED',
    `The ${plan} plan allows a project ${plans[plan].proposals} proposals a month. Define the schema by hand, or ask the operator of this service for a larger plan.`,
    { retryAfter: Math.max(1, Math.ceil((endOf(counted) - now) / 1000)) },
  );

/**
 * Adds to the month's count by one conditional write; false if the condition failed. The SDK repeats a write whose
 * response was lost: the second one finds its own `lastCall`, and counts no second time.
 */
const add = async (counted: CountedProposal, amount: 1 | -1, condition: string, values: Values): Promise<boolean> => {
  const call = randomUUID();
  try {
    await onTable((dynamo, table) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: keyOf(counted),
          UpdateExpression: 'SET expiresAt = :end, lastCall = :call ADD n :amount',
          ConditionExpression: `(${condition}) AND (attribute_not_exists(lastCall) OR lastCall <> :call)`,
          ExpressionAttributeValues: {
            ...values,
            ':amount': { N: String(amount) },
            ':call': { S: call },
            ':end': { N: String(Math.ceil((endOf(counted) + dayMs) / 1000)) },
          },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return error.Item?.lastCall?.S === call;
    throw error;
  }
};

/** Counts one proposal by one conditional write; over the plan's proposals a month → 429 `ASSISTANT_QUOTA_EXCEEDED`. */
export const countProposal = async (project: Pick<Project, 'id' | 'plan'>): Promise<CountedProposal> => {
  const now = clock.now();
  const counted = { projectId: project.id, month: new Date(now).toISOString().slice(0, 7) };
  const limit = { N: String(plans[project.plan].proposals) };
  if (await add(counted, 1, 'attribute_not_exists(n) OR n < :limit', { ':limit': limit })) return counted;
  throw overLimit(project.plan, counted, now);
};

/** Reverts the count of a proposal for which the model could not be reached. */
export const uncountProposal = async (counted: CountedProposal): Promise<void> => {
  await add(counted, -1, 'n > :none', { ':none': { N: '0' } });
};
