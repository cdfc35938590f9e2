import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { failuresByCode, failuresByRoute, newestErrors, oneMail, oneRequest, slowestRoutes } from './log-queries.ts';

/** The queries of the guide, by the names that it and the alarms give them; `…` is for an id to be put in. */
const queries: Readonly<Record<string, string>> = {
  'One request by its id': oneRequest('…'),
  Errors: newestErrors,
  '5xx by route': failuresByRoute,
  '5xx by code': failuresByCode,
  'Slowest routes': slowestRoutes,
  'One email by its id': oneMail('…'),
};

/** Saves the queries of the guide in CloudWatch Logs Insights, in a folder of the deployment's name. */
export const saveQueries = (scope: Construct, deployment: string): void => {
  for (const [index, [name, queryString]] of Object.entries(queries).entries()) {
    new CfnQueryDefinition(scope, `Query${index + 1}`, { name: `${deployment}/${name}`, queryString });
  }
};
