/** bcrypt's cost, the service's default. */
export const passwordCost = 12;
