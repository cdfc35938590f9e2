/** The API description's text for the body of an update. */
export const updateText =
  'The fields to change; dotted names are fields inside objects. Operators can be sent beside them: $inc, $mul, $min and $max change numbers, {"$inc":{"views":1}}; $push and $addToSet add an element, or those of {"$each":[…]}; $pull removes elements that equal a value or fulfil a condition; $unset and $currentDate take a list of fields.';
