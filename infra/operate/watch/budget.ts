import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';

/** Of the month's budget, in per cent: what has been spent, and what AWS expects of the whole month. */
const thresholds = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const;

/**
 * Tells an address by mail before the account has spent so many dollars in a month. It stops nothing, and counts the
 * whole account: AWS knows what one deployment costs only where its tag has been activated.
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
