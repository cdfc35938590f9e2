import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { type Stack, Validations } from 'aws-cdk-lib/core';

/**
 * The secret by which an API recognizes the console's CloudFront, which reports the viewer's address. Returns a
 * reference that CloudFormation resolves.
 */
export const viewerSecretOf = (scope: Stack): string => {
  const secret = new Secret(scope, 'ViewerSecret', {
    description: 'Shows the dashboard API that it is the CloudFront of the console that says who calls.',
    generateSecretString: { passwordLength: 43, excludePunctuation: true },
  });
  Validations.of(secret).acknowledge({
    id: 'AwsSolutions-SMG4',
    reason: 'Who learns it can have their requests counted for another address, and nothing else.',
  });
  // Functions that no longer read it are deployed after this stack.
  scope.exportValue(secret.secretArn);
  return secret.secretValue.unsafeUnwrap();
};
