import { AppSyncAuthorizationType, EventApi } from 'aws-cdk-lib/aws-appsync';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnOutput, Duration, Stack, type StackProps } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { channelNamespace } from '../../shared/realtime/channels.ts';
import type { Stores } from './statements.ts';

interface RealtimeStackProps extends StackProps {
  /** Lets tickets in. */
  readonly authorizer: LambdaFunction;
}

/**
 * The Event API of live updates. Clients connect and subscribe with tickets, which a function looks at; only functions
 * that write documents publish, by their roles.
 */
export class RealtimeStack extends Stack {
  readonly nudges: NonNullable<Stores['nudges']>;
  /** Where clients connect. */
  readonly url: string;

  constructor(scope: Construct, id: string, { authorizer, ...props }: RealtimeStackProps) {
    super(scope, id, props);
    // By its address, so that the permission to call it stands here: where it is made nothing knows of this stack.
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
            // What is let in for one channel is not for another one.
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
    // So that it can be switched off and on: nothing that others may still import goes.
    for (const value of [api.apiArn, api.httpDns, api.realtimeDns]) this.exportValue(value);
    new CfnOutput(this, 'RealtimeUrl', { value: this.url });
  }
}
