import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { failuresByCode, failuresByRoute, newestErrors, oneMail, oneRequest, slowestRoutes } from './log-queries.ts';

/** The queries by their names in the guide and in alarms; `…` marks the place of an id. */
const queries: Readonly<Record<string, string>> = {
  'One request by its id': oneRequest('…'),
  Errors: newestErrors,
  '5xx by route': failuresByRoute,
  '5xx by code': failuresByCode,
  'Slowest routes': slowestRoutes,
  'One email by its id': oneMail('…'),
};

/** Saves the queries in CloudWatch Logs Insights, in a folder named after the deployment. */
export const saveQueries = (scope: Construct, deployment: string): void => {
  for (const [index, [name, queryString]] of Object.entries(queries).entries()) {
    new CfnQueryDefinition(scope, `Query${index + 1}`, { name: `${deployment}/${name}`, queryString });
  }
};
