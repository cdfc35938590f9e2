import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';

/** Percent of the budget: actual spending and AWS's forecast. */
const thresholds = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const;

/**
 * Emails a warning before the account has spent this much in a month. It stops nothing and counts the complete account,
 * because AWS knows the costs of one deployment only if its tag is activated.
 */
export const addBudget = (scope: Construct, deployment: string, dollars: number, address: string): CfnBudget =>
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetName: `${deployment}: spending of the month`,
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: dollars, unit: 'USD' },
    },
    notificationsWithSubscribers: thresholds.map((threshold) => ({
      notification: { ...threshold, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
      subscribers: [{ subscriptionType: 'EMAIL', address }],
    })),
  });
