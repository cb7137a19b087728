export default (output, context) => output.length <= context.config.most;
