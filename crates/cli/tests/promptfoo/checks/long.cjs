module.exports = (output) => output.length > 10;
