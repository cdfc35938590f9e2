/** What every sign-in costs, at the service's default. */
export const passwordCost = 12;
