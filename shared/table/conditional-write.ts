import { type AttributeValue, ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';

/**
 * The attributes that a conditional write returns (`{}` if none were requested); `undefined` if its condition failed.
 */
export const conditionalWrite = async (
  write: Promise<{ readonly Attributes?: Record<string, AttributeValue> | undefined }>,
): Promise<Record<string, AttributeValue> | undefined> => {
  try {
    return (await write).Attributes ?? {};
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return undefined;
    throw error;
  }
};
