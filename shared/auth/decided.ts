import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';

/** The item a conditional write leaves or finds; `undefined` where its condition did not hold. */
export const decided = async (
  write: Promise<{ readonly Attributes?: Record<string, AttributeValue> | undefined }>,
): Promise<Record<string, AttributeValue> | undefined> => {
  try {
    return (await write).Attributes ?? {};
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};
