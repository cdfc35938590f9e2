import { ConditionalCheckFailedException, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
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

const keyOf = ({ projectId, month }: CountedProposal) => ({
  pk: { S: `p#${projectId}` },
  sk: { S: `assistant#${month}` },
});

const nextMonth = (now: number): number => {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
};

const overLimit = (plan: PlanName, now: number): AppError =>
  new AppError(
    'ASSISTANT_QUOTA_EXCEEDED',
    `The ${plan} plan allows a project ${plans[plan].proposals} proposals a month. Define the schema by hand, or ask for a larger plan.`,
    { retryAfter: Math.max(1, Math.ceil((nextMonth(now) - now) / 1000)) },
  );

/** Counts one proposal by one conditional write; over the plan's proposals a month → 429 `ASSISTANT_QUOTA_EXCEEDED`. */
export const countProposal = async (project: Pick<Project, 'id' | 'plan'>): Promise<CountedProposal> => {
  const now = clock.now();
  const counted = { projectId: project.id, month: new Date(now).toISOString().slice(0, 7) };
  try {
    await onTable((dynamo, table) =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: table,
          Key: keyOf(counted),
          UpdateExpression: 'ADD n :one SET expiresAt = :end',
          ConditionExpression: 'attribute_not_exists(n) OR n < :limit',
          ExpressionAttributeValues: {
            ':one': { N: '1' },
            ':limit': { N: String(plans[project.plan].proposals) },
            ':end': { N: String(Math.ceil((nextMonth(now) + dayMs) / 1000)) },
          },
        }),
      ),
    );
    return counted;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw overLimit(project.plan, now);
    throw error;
  }
};

/** Reverts the count of a proposal for which the model could not be reached. */
export const uncountProposal = async (counted: CountedProposal): Promise<void> => {
  await onTable((dynamo, table) =>
    dynamo.send(
      new UpdateItemCommand({
        TableName: table,
        Key: keyOf(counted),
        UpdateExpression: 'ADD n :minusOne',
        ConditionExpression: 'n > :none',
        ExpressionAttributeValues: { ':minusOne': { N: '-1' }, ':none': { N: '0' } },
      }),
    ),
  ).catch((error: unknown) => {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  });
};
