/** Something that whoever deploys can put right; its message says how. */
export class DeployProblem extends Error {}
