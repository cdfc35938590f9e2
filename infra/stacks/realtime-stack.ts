import { AppSyncAuthorizationType, EventApi } from 'aws-cdk-lib/aws-appsync';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { channelNamespace } from '../../shared/realtime/channels.ts';
import type { Stores } from './statements.ts';

interface RealtimeStackProps extends StackProps {
  /** The authorizer. */
  readonly authorizer: LambdaFunction;
}

/**
 * The Event API for live updates. A function authorizes connections and subscriptions by their token. Only functions
 * that write documents may publish, by their roles.
 */
export class RealtimeStack extends Stack {
  readonly nudges: NonNullable<Stores['nudges']>;
  readonly url: string;

  constructor(scope: Construct, id: string, { authorizer, ...props }: RealtimeStackProps) {
    super(scope, id, props);
    // By ARN, so that the permission is created here; the function's own stack does not know this one.
    const handler = LambdaFunction.fromFunctionAttributes(this, 'Authorizer', {
      functionArn: authorizer.functionArn,
      sameEnvironment: true,
    });
    const { LAMBDA, IAM } = AppSyncAuthorizationType;
    const api = new EventApi(this, 'Events', {
      apiName: id,
      authorizationConfig: {
        authProviders: [
          {
            authorizationType: LAMBDA,
            // A decision for one channel must not be cached for another.
            lambdaAuthorizerConfig: { handler, resultsCacheTtl: Duration.seconds(0) },
          },
          { authorizationType: IAM },
        ],
        connectionAuthModeTypes: [LAMBDA],
        defaultSubscribeAuthModeTypes: [LAMBDA],
        defaultPublishAuthModeTypes: [IAM],
      },
    });
    api.addChannelNamespace(channelNamespace);
    this.nudges = {
      namespaceArn: `${api.apiArn}/channelNamespace/${channelNamespace}`,
      url: `https://${api.httpDns}/event`,
    };
    this.url = `wss://${api.realtimeDns}/event/realtime`;
    // Live updates can be turned off and on, because exports that others may import stay.
    for (const value of [api.apiArn, api.httpDns, api.realtimeDns]) this.exportValue(value);
    new CfnOutput(this, 'RealtimeUrl', { value: this.url });
  }
}
